"""This deployment: one stack for the application that pyproject.toml names."""

from stepward.project import Project
from stepward_cdk import synthesise

if __name__ == "__main__":
    synthesise(Project.here())
