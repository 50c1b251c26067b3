"""SQS and Lambda's poller in memory, as strict as AWS and under a clock that the test moves."""
