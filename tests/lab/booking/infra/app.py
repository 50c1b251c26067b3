"""The deployment of the booking."""

from stepward.project import Project
from stepward_cdk import synthesise

synthesise(Project.here())
