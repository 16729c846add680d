"""Names of models in MLflow's registry, which is part of the store."""

from __future__ import annotations

from auclab.tracking.address import Address
from auclab.tracking.store import STORE_ERRORS, MlflowClient, MlflowException
from auclab.types import AuclabError


def check_name(name: str) -> None:
    """Refuse an invalid name of a model.

    Examples
    --------
    >>> check_name("churn")
    """
    if not name.strip() or any(sign in name for sign in "/:@"):
        raise AuclabError(f"{name!r} cannot be the name of a model, because its address is models:/NAME/VERSION")


def register_model(store: Address, run_id: str, name: str, *, path: str = "model") -> int:
    """Register the model of a run as the next version of `name`; the first one makes the name.

    `store`: the store of the run. `name`: without ``/`` and ``:``, as the model is then called
    ``models:/NAME/VERSION``. `path`: where the model is among the files of the run. Returns: the version.
    """
    check_name(name)
    client = MlflowClient(tracking_uri=store.uri, registry_uri=store.uri)
    try:
        run = client.get_run(run_id)
        try:
            client.create_registered_model(name)
        except MlflowException as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise
        source = f"{str(run.info.artifact_uri).rstrip('/')}/{path}"
        return int(client.create_model_version(name, source=source, run_id=run_id).version)
    except STORE_ERRORS as error:
        reason = " ".join(str(error).split())
        raise AuclabError(
            f"the model of run {run_id[:8]} cannot be registered as {name!r} in {store}: {reason}"
        ) from error
