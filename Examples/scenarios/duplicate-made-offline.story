# Without a unique key, two devices that make the same thing have made two things.
story A duplicate made offline

entity Tag: label text
devices Ann, Ben

Ann and Ben go offline
Ann inserts Tag a with label "Garden"
Ben inserts Tag b with label "Garden"
Ann syncs
expect Ann is not in sync
Ann and Ben come online
everyone settles

expect 2 Tag
expect everyone agrees
