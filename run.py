"""One experiment, or a sweep of them with -m. `python run.py --help` lists every choice."""

import shlex

import hydra
from omegaconf import DictConfig, OmegaConf

from auclab.pipeline.build import build
from auclab.sweeps.sweep import run_job, sweep_scope


def study_seeds(study: str, scale: str) -> str:
    """The seeds of a study at a scale, for conf/study.yaml."""
    from experiments.sweep import seeds

    from auclab.pipeline.console import plain_errors

    with plain_errors(lambda line: SystemExit(1)):
        return seeds(study, scale)


OmegaConf.register_new_resolver("study_seeds", study_seeds, replace=True)


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(config: DictConfig) -> None:
    """Run one experiment, or one seed of a study, with the composed configuration."""
    from auclab.pipeline.console import plain_errors

    job = hydra.core.hydra_config.HydraConfig.get()
    if "study" in config:
        from experiments.sweep import run_study

        run_study(config, job)
        return
    # Of a sweep, the words of this job alone.
    command = shlex.join(["python", "run.py", *job.overrides.task])
    if job.mode is hydra.types.RunMode.MULTIRUN:
        run_job(config, build=build, job=job, command=command)
        return
    with plain_errors(lambda line: SystemExit(1)):
        # The heavy libraries, only once the choices are known to exist.
        from auclab.pipeline.experiment import run_experiment

        folder, choices = job.runtime.output_dir, job.runtime.choices
        run_experiment(config, build=build, choices=choices, folder=folder, command=command)


if __name__ == "__main__":
    with sweep_scope():
        main()
