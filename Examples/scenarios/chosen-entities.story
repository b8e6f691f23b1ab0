story A device that takes only some entities

entity Note: title text, open flag
entity Photo: name text
relation Note.photos many, Photo.note one
devices Desk, Watch

Desk inserts Note a with title "Milk", open true
Desk inserts Note b with title "Old bill", open false
Desk inserts Photo p with name "Receipt", note b
Watch chooses Note
everyone settles
expect a is there
expect p is gone on Watch
expect p.note is b on Desk and the service

# What the watch does not take is deleted nowhere, whatever it does.
Watch sets b.title to "Paid bill"
Watch deletes a
everyone settles
expect a is gone
expect b.title is "Paid bill"
expect p.note is b on Desk and the service

# A predicate: the desk sends open notes only. What leaves stays elsewhere as it was sent last.
Desk chooses Note where "open == YES", Photo
Desk sets b.title to "Burnt bill"
Desk inserts Note c with title "Call Ann", open true
everyone settles
expect c is there on Watch
expect b.title is "Paid bill" on Watch and the service
expect everyone is in sync

# Everything again.
Desk and Watch choose everything
everyone settles
expect b.title is "Burnt bill"
expect p.note is b
expect everyone agrees
