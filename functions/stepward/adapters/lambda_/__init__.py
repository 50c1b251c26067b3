"""Takes the events that Lambda hands to a function, and answers them."""
