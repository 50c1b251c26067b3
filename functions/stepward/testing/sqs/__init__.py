"""SQS and Lambda's poller in memory, as strict as AWS, under a clock that the test moves."""
