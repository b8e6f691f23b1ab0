/// What to do about each kind of problem that `inspect --check` finds.
enum CheckHint {
    private static let hints = [
        "damagedFile":
            "Restore the file from a copy; where there is none, 'diptych convert' may still bring "
            + "its objects over into a new one.",
        "damagedModel": "Give the store's model with --model.",
        "missingTable":
            "Restore the file from a copy, or give the model it was written with.",
        "missingValue": "Set the value with 'diptych edit'.",
        "badValue": "It is read as something else or as none; set it anew with 'diptych edit'.",
        "wrongEntity": "Set the link anew, or to null, with 'diptych edit'.",
        "damagedMetadata":
            "Restore the file from a copy; what its tables hold can be exported with "
            + "--model from a copy of it.",
        "otherModel": "Give the model that the store was written with.",
        "keyBehind":
            "A save by Diptych raises it by itself; until then let no other program write.",
        "unknownEntity": "Restore the file from a copy, or give the model it was written with.",
        "danglingLink":
            "The object at the other end was deleted without it; set the link anew, or to "
            + "null, with 'diptych edit'.",
        "danglingPair":
            "The pair leads nowhere and is shown nowhere; 'diptych convert' leaves it out.",
        "halfLink":
            "Nothing is lost: the end that points counts. 'diptych convert' makes a store in "
            + "which both ends know of it.",
        "crossedLink": "Decide which link counts, and set it with 'diptych edit'.",
        "missingFile":
            "Put the file back from a copy of the store. Until then the value reads as none, "
            + "and the store keeps its reference.",
        "orphanedFile": "Nothing needs it; keep a copy if in doubt, then remove it.",
    ]

    static func hint(of code: String) -> String {
        hints[code] ?? "Restore the file from a copy."
    }
}
