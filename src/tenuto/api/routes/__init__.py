"""The routes, a file for each resource."""

from tenuto.api.endpoint import Endpoint
from tenuto.api.routes import (
    about,
    approvals,
    changes,
    comparisons,
    events,
    export,
    files,
    health,
    history,
    models,
    nodes,
    panes,
    providers,
    runs,
    sessions,
    settings,
    usage,
    workspaces,
)

ALL: tuple[Endpoint, ...] = (
    *health.ENDPOINTS,
    *about.ENDPOINTS,
    *nodes.ENDPOINTS,
    *models.ENDPOINTS,
    *providers.ENDPOINTS,
    *settings.ENDPOINTS,
    *usage.ENDPOINTS,
    *workspaces.ENDPOINTS,
    *sessions.ENDPOINTS,
    *export.ENDPOINTS,
    *history.ENDPOINTS,
    *runs.ENDPOINTS,
    *approvals.ENDPOINTS,
    *changes.ENDPOINTS,
    *comparisons.ENDPOINTS,
    *panes.ENDPOINTS,
    *files.ENDPOINTS,
    *events.ENDPOINTS,
)
