/// Reads what a device does about shares.
struct SharingReader {
    /// The deed and its form; nil where the line is about something else.
    func read(_ words: inout StoryWords) throws -> (StoryDeed, String)? {
        guard let (sharing, form) = try sharing(&words) else { return nil }
        return (.sharing(sharing), form)
    }

    private func sharing(_ words: inout StoryWords) throws -> (StorySharing, String)? {
        if words.takeAny("shares", "share") {
            let form = "shares n, f as trip; or: shares everything as all"
            let handles =
                words.take(StoryWriting.everything) ? [] : try words.list("an object", form)
            try words.expect("as", form)
            return (.share(handles, as: try words.word("a name for the share", form)), form)
        }
        if words.takeAny("invites", "invite") {
            let form = "invites Cem to trip; or: invites Cem to trip for reading"
            let user = try words.word("a user", form)
            try words.expect("to", form)
            let name = try words.word("a share", form)
            let isReader = words.take("for reading")
            if !isReader { _ = words.take("for writing") }
            return (.invite(user: user, to: name, mayWrite: !isReader), form)
        }
        if words.takeAny("revokes", "revoke") {
            let form = "revokes trip from Cem"
            let name = try words.word("a share", form)
            try words.expect("from", form)
            return (.revoke(name, from: try words.word("a user", form)), form)
        }
        if words.takeAny("accepts", "accept") {
            return (.accept(try words.word("a share", "accepts trip")), "accepts trip")
        }
        if words.takeAny("leaves", "leave") {
            return (.leave(try words.word("a share", "leaves trip")), "leaves trip")
        }
        if words.takeAny("ends", "end") {
            return (.end(try words.word("a share", "ends trip")), "ends trip")
        }
        return nil
    }
}
