"""Waiting for what another process does, however slow the machine is."""

import time

#: Seconds after which it hangs; minutes more than anything here takes on a busy machine.
HANGS = 900.0


def wait_until(condition, process=None, *, every=0.1):
    """Until the condition holds, while the process lives."""
    end = time.monotonic() + HANGS
    while not condition():
        assert process is None or process.poll() is None, "the process ended"
        assert time.monotonic() < end, "it hangs"
        time.sleep(every)
