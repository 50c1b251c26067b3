"""The ledger processor: splits ledgers into the lanes of their orders."""
