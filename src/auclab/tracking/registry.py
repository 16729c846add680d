"""Names of models in MLflow's registry, which is part of the store."""

from __future__ import annotations

from auclab.tracking.address import Address, reason_of
from auclab.tracking.logged_models import MODEL_NAME, models_of
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


def register_model(store: Address, run_id: str, name: str) -> int:
    """Register the model of a run as the next version of `name`; the first one makes the name.

    `store`: the store of the run, which has one split. `name`: without ``/`` and ``:``, as the model is then called
    ``models:/NAME/VERSION``. Returns: the version.
    """
    check_name(name)
    client = MlflowClient(tracking_uri=store.uri, registry_uri=store.uri)
    try:
        models = {model.name: model for model in models_of(client, client.get_run(run_id))}
        if MODEL_NAME not in models:
            raise AuclabError(f"run {run_id[:8]} has no model of that name in {store}: run the experiment again")
        try:
            client.create_registered_model(name)
        except MlflowException as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise
        model = models[MODEL_NAME]
        version = client.create_model_version(name, model.artifact_location, run_id, model_id=model.model_id)
        return int(version.version)
    except STORE_ERRORS as error:
        raise AuclabError(
            f"the model of run {run_id[:8]} cannot be registered as {name!r} in {store}: {reason_of(error)}"
        ) from error
