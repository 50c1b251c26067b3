"""The use cases: what each Lambda function does once its event is parsed and its collaborators are wired."""
