"""Who may do what: the IAM policies of people, and which of them allows what was denied."""
