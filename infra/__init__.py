"""Infrastructure of a Stepward deployment: one stack, derived from the workflow definition."""

from infra.interpreter import prepare

# Every module of this package needs both, and CDK looks for node as soon as it is imported.
prepare()
