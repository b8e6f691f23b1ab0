# With a unique key, two devices that make the same thing have made one: links move to it.
story A duplicate with a unique key

entity Tag: label text unique
entity Note: title text
relation Note.tags many, Tag.notes many
devices Ann, Ben

Ann inserts Note n with title "Roses"
everyone settles

Ann and Ben go offline
Ann inserts Tag a with label "Garden"
Ann adds a to n.tags
Ben inserts Tag b with label "Garden"
Ben inserts Note m with title "Tulips"
Ben adds b to m.tags
Ann and Ben come online
everyone settles

expect 1 Tag
expect a and b are one
expect n.tags are a
expect m.tags are b
expect everyone agrees
