/// What can be done today about a failure, by its code. Commands in backticks are
/// completed with the store and the flags of the call.
enum HintTable {
    /// For a failure, where the table knows better than the error's own words, or these say none.
    static func hint(for error: CommandError) -> String? {
        if let better = better[error.code] { return better }
        return error.hint == nil ? otherwise[error.code] : nil
    }

    /// Libraries speak to programs; this is for whoever typed the command.
    private static let better = [
        "modelMismatch":
            "Give the model that the store was written with (--model), or bring the store to this "
            + "one: 'diptych migrate STORE --to MODEL'; with --dry-run it tells what would change.",
        "otherContainer":
            "Use that service. If it only has a new address, say so once: `diptych sync --moved`; "
            + "to start over with another one, run `diptych reset` first.",
        "otherUser":
            "Sign in as before: `diptych sign-in`. To give all that is in the store to the "
            + "user who is signed in, run `diptych reset` first.",
        "selectionUnread":
            "Sync the store by its app, or choose anew what is sent: `diptych sync --only all`.",
        "shareEnded":
            "See what was not sent: `diptych conflicts`. To take part in another share, let the "
            + "word accept and its invitation follow the store: `diptych share`.",
        "busy":
            "Let the process that holds the store end its work, then run the command again; "
            + "nothing was changed.",
        "objectDeleted":
            "What it was is in `diptych conflicts --json`; a new object can be made of that with "
            + "'diptych edit'.",
    ]

    private static let otherwise = [
        "cannotOpen": "Check the path and its rights; `diptych create` makes a new store.",
        "notAStore": "Give the path of a Core Data store.",
        "keyTaken":
            "The other object is found by 'diptych inspect' and changed by 'diptych edit'.",
        "unknownConflict": "`diptych conflicts` lists those there are.",
        "sqlite": "Look at the free space and the file's rights, then for damage: "
            + "`diptych inspect --check`.",
        "corrupt":
            "Restore it from a copy; what is still readable shows `diptych inspect --check`.",
        "serviceRefused": "`diptych status` tells what waits and why.",
        "tlsUntrusted": "Name the service's tls/authority.pem with --ca-file.",
        "failed": "Look at the address, the network and a proxy between; `diptych status` tells "
            + "what waits.",
    ]
}
