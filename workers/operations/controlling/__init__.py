"""What an operator does with crawls and what is stored of them: states, room, fetching again."""
