"""The routes, a file for each resource."""

from tenuto.api.endpoint import Endpoint
from tenuto.api.routes import approvals, files, health, history, models, runs, sessions, workspaces

ALL: tuple[Endpoint, ...] = (
    *health.ENDPOINTS,
    *models.ENDPOINTS,
    *workspaces.ENDPOINTS,
    *sessions.ENDPOINTS,
    *history.ENDPOINTS,
    *runs.ENDPOINTS,
    *approvals.ENDPOINTS,
    *files.ENDPOINTS,
)
