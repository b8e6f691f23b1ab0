# Two devices rearrange one list. No member is lost, and the order is the same everywhere.
story An ordered list, rearranged twice

entity Album: title text
entity Song: title text
relation Album.songs many ordered, Song.album one
devices Ann, Ben

Ann inserts Album x with title "Side A"
Ann inserts Song a with title "One", album x
Ann inserts Song b with title "Two", album x
Ann inserts Song c with title "Three", album x
everyone settles
expect x.songs are a, b, c

Ann moves c to the start of x.songs
Ben inserts Song d with title "Four", album x
Ben moves a to the end of x.songs
everyone settles

expect x.songs are c, b, d, a
expect nothing was logged
expect everyone agrees
