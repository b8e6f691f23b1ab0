# Two devices give one cover to two books. It ends with one; the other has none.
story A one-to-one partner claimed twice

entity Book: title text
entity Cover: colour text
relation Book.cover one, Cover.book one
devices Ann, Ben

Ann inserts Book a with title "Emma"
Ann inserts Book b with title "Persuasion"
Ann inserts Cover c with colour "red"
everyone settles

Ann sets a.cover to c
Ben sets b.cover to c
everyone settles

# The book with the smaller record name keeps it, on all devices.
expect 1 Cover
expect everyone agrees
expect c was logged
