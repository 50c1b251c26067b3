"""What Lambda hands to a function, and how a batch is answered."""
