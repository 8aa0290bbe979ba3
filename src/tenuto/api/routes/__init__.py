"""The routes, a file for each resource."""

from tenuto.api.endpoint import Endpoint
from tenuto.api.routes import (
    about,
    approvals,
    comparisons,
    events,
    export,
    files,
    health,
    history,
    mcp,
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
    *mcp.ENDPOINTS,
    *settings.ENDPOINTS,
    *usage.ENDPOINTS,
    *workspaces.ENDPOINTS,
    *sessions.ENDPOINTS,
    *export.ENDPOINTS,
    *history.ENDPOINTS,
    *runs.ENDPOINTS,
    *approvals.ENDPOINTS,
    *comparisons.ENDPOINTS,
    *panes.ENDPOINTS,
    *files.ENDPOINTS,
    *events.ENDPOINTS,
)
