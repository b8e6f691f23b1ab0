# Two devices move one note into different folders. It ends in one of them, not in both.
story A note moved into two folders

policy remote
entity Folder: name text
entity Note: title text
relation Folder.notes many, Note.folder one
devices Ann, Ben

Ann inserts Folder home with name "Home"
Ann inserts Folder work with name "Work"
Ann inserts Folder trash with name "Trash"
Ann inserts Note n with title "Bills", folder home
everyone settles

Ann sets n.folder to work
Ben sets n.folder to trash
Ann syncs
Ben syncs        # the rule is remote: Ben takes what the service has
everyone settles

expect n.folder is work
expect work.notes are n
expect trash.notes are nothing
expect n.folder was logged by remote on Ben
expect everyone agrees
