"""The real handlers on moto, for tests of the AWS adapters. Needs moto and time-machine."""
