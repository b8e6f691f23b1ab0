# Two devices add and remove members of one to-many. Each addition and each removal counts.
story Members added on both sides

entity Note: title text
entity Tag: label text
relation Note.tags many, Tag.notes many
devices Ann, Ben

Ann inserts Note n with title "Roses"
Ann inserts Tag old with label "Draft"
Ann inserts Tag red with label "Red"
Ann inserts Tag tall with label "Tall"
Ann adds old to n.tags
everyone settles

Ann adds red to n.tags
Ben adds tall to n.tags
Ben removes old from n.tags
everyone settles

expect n.tags are red, tall
expect nothing was logged
expect everyone agrees
