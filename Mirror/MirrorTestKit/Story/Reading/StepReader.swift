internal import MirrorEngine

/// Reads one line of what happens.
struct StepReader {
    let devices: [String]

    func action(_ words: inout StoryWords) throws -> StoryAction {
        if words.take("under") {
            let form = "under latest expect n.title is \"x\""
            let rule = try StoryWords.rule(&words, form).name
            guard words.take("expect") else {
                throw StoryError("'expect' is missing.", "Write: \(form)")
            }
            return .expect(try ExpectationReader(devices: devices).read(&words, under: rule))
        }
        if words.take("expect") {
            return .expect(try ExpectationReader(devices: devices).read(&words, under: nil))
        }
        if words.takeAny("everyone", "Everyone") { return try everyone(&words) }
        if words.takeAny("the service", "The service") { return try service(&words) }
        if words.takeAny("the zone is deleted", "The zone is deleted") {
            try words.end("the zone is deleted")
            return .service(.deleteZone)
        }
        if let word = words.plain, word.first?.isNumber == true {
            let seconds = try StoryWords.duration(&words)
            guard words.takeAny("pass", "passes") else {
                throw StoryError("Time passes.", "Write: 3 hours pass")
            }
            try words.end("3 hours pass")
            return .pass(seconds: seconds)
        }
        let names = try subjects(&words)
        return .device(names, try DeedReader().read(&words))
    }

    private func everyone(_ words: inout StoryWords) throws -> StoryAction {
        let form = "everyone syncs, or everyone settles"
        if words.takeAny("syncs", "sync") {
            try words.end(form)
            return .everyoneSyncs
        }
        if words.takeAny("settles", "settle") {
            try words.end(form)
            return .everyoneSettles
        }
        return .device(devices, try DeedReader().read(&words))
    }

    private func service(_ words: inout StoryWords) throws -> StoryAction {
        let form = "the service is backed up, is restored, or is lost"
        let deeds: [(String, StoryServiceDeed)] = [
            ("is backed up", .backUp), ("is restored", .restore), ("is lost", .lose),
        ]
        for (phrase, deed) in deeds where words.take(phrase) {
            try words.end(form)
            return .service(deed)
        }
        throw StoryError("That does not befall a service.", "Write: \(form)")
    }

    /// "Ann", "Ann and Ben", "Ann, Ben".
    private func subjects(_ words: inout StoryWords) throws -> [String] {
        var names: [String] = []
        repeat {
            _ = words.take("and")
            guard let name = words.plain, devices.contains(name) else { throw stranger(words) }
            _ = words.take()
            names.append(name)
        } while words.takeComma() || words.take("and")
        return names
    }

    private func stranger(_ words: StoryWords) -> StoryError {
        let known = devices.isEmpty ? "none yet" : devices.joined(separator: ", ")
        return StoryError(
            "A line begins with a device, everyone, the service, a time or expect, "
                + "not with '\(words.plain ?? "")'.", "The devices are: \(known).")
    }
}

/// Reads what a device does.
struct DeedReader {
    func read(_ words: inout StoryWords) throws -> StoryDeed {
        if words.take("takes back the deletion of") {
            let form = "takes back the deletion of n"
            let handle = try words.word("an object", form)
            try words.end(form)
            return .takeBackDeletion(of: handle)
        }
        for (phrase, deed) in Self.plain where words.take(phrase) {
            try words.end(phrase)
            return deed
        }
        let (deed, form) = try read(words: &words)
        try words.end(form)
        return deed
    }

    /// Longer phrases before those that begin them.
    private static let plain: [(String, StoryDeed)] = [
        ("begins", .begin), ("begin", .begin), ("saves", .save), ("save", .save),
        ("undoes", .undo), ("takes back", .takeBack), ("syncs", .sync), ("sync", .sync),
        ("goes offline", .goOffline), ("go offline", .goOffline),
        ("comes online", .comeOnline), ("come online", .comeOnline),
        ("loses the next request", .loseNextRequest),
        ("loses the next answer", .loseNextAnswer),
        ("crashes in the next sync", .crashInNextSync), ("crashes", .crash),
        ("is backed up", .backUp), ("are backed up", .backUp), ("is restored", .restore),
        ("resets", .reset),
    ]

    private func read(words: inout StoryWords) throws -> (StoryDeed, String) {
        if words.takeAny("inserts", "insert") { return try insert(&words) }
        if words.takeAny("sets the clock", "set the clock") {
            return (.setClock(seconds: try StoryWords.skew(&words)), "sets the clock 1 hour ahead")
        }
        if words.takeAny("sets", "set") {
            let form = "sets n.title to \"Milk\""
            let property = try words.property(form)
            try words.expect("to", form)
            return (.set(property, try words.value(form)), form)
        }
        if words.takeAny("clears", "clear") {
            return (.set(try words.property("clears n.title"), .nothing), "clears n.title")
        }
        if words.takeAny("adds", "add") { return try add(&words) }
        if words.takeAny("removes", "remove") {
            let form = "removes t from n.tags"
            let members = try words.list("an object", form)
            try words.expect("from", form)
            return (.remove(members, try words.property(form)), form)
        }
        if words.takeAny("moves", "move") { return try move(&words) }
        if words.takeAny("deletes", "delete") {
            return (.delete(try words.word("an object", "deletes n")), "deletes n")
        }
        if words.takeAny("becomes a copy of", "become a copy of") {
            let form = "becomes a copy of Ben"
            return (.becomeCopy(of: try words.word("a device", form)), form)
        }
        if words.takeAny("opens model", "opens the model") {
            let form = "opens model newer"
            return (.open(model: try words.word("a model's name", form)), form)
        }
        if words.takeAny("takes", "take") { return try decide(&words) }
        if words.takeAny("chooses", "choose") { return try choose(&words) }
        if let sharing = try SharingReader().read(&words) { return sharing }
        throw StoryError(
            "'\(words.plain ?? "")' is nothing that a device does.",
            "There are inserts, sets, clears, adds, removes, moves, deletes, begins, saves, "
                + "undoes, takes, syncs, goes, comes, loses, crashes, becomes, opens, resets, "
                + "is backed up, is restored, shares, invites, revokes, accepts, leaves, ends, "
                + "chooses.")
    }

    private func choose(_ words: inout StoryWords) throws -> (StoryDeed, String) {
        let form = "chooses Note, Task where \"done == NO\"; or: chooses everything"
        guard !words.take(StoryWriting.everything) else { return (.choose([]), form) }
        var choices: [StoryChoice] = []
        repeat {
            _ = words.take("and")
            var choice = StoryChoice(try words.word("an entity", form))
            if words.take("where") {
                guard case .text(let predicate) = try words.value(form) else {
                    throw StoryError("The predicate stands in quotes.", "Write: \(form)")
                }
                choice.predicate = predicate
            }
            choices.append(choice)
        } while words.takeComma() || words.take("and")
        return (.choose(choices), form)
    }

    private func insert(_ words: inout StoryWords) throws -> (StoryDeed, String) {
        let form = "inserts Note n with title \"Milk\", folder f"
        let entity = try words.word("an entity", form)
        let handle = try words.word("a name for the object", form)
        guard handle.first?.isLetter == true, handle.allSatisfy({ $0.isLetter || $0.isNumber }),
            !["nothing", "everything"].contains(handle)
        else {
            throw StoryError(
                "An object cannot be called '\(handle)'.", "Use letters and digits: n, milk2")
        }
        var values: [StoryAssignment] = []
        if words.take("with") {
            repeat {
                _ = words.take("and")
                let property = try words.word("a property", form)
                values.append(StoryAssignment(property, try words.value(form)))
            } while words.takeComma() || words.take("and")
        }
        return (.insert(entity: entity, handle: handle, values: values), form)
    }

    private func add(_ words: inout StoryWords) throws -> (StoryDeed, String) {
        let form = "adds 2 to n.views, or adds t to n.tags"
        var values = [try words.value(form)]
        while words.takeComma() || words.take("and") {
            _ = words.take("and")
            values.append(try words.value(form))
        }
        try words.expect("to", form)
        return (.add(values, try words.property(form)), form)
    }

    private func move(_ words: inout StoryWords) throws -> (StoryDeed, String) {
        let form = "moves c before a in f.notes, or moves c to the start of f.notes"
        let handle = try words.word("an object", form)
        if words.take("to the start of") {
            return (.move(handle, .start, try words.property(form)), form)
        }
        if words.take("to the end of") {
            return (.move(handle, .end, try words.property(form)), form)
        }
        let isBefore = words.take("before")
        guard isBefore || words.take("after") else {
            throw StoryError("The place is missing.", "Write: \(form)")
        }
        let other = try words.word("an object", form)
        try words.expect("in", form)
        return (
            .move(handle, isBefore ? .before(other) : .after(other), try words.property(form)), form
        )
    }

    private func decide(_ words: inout StoryWords) throws -> (StoryDeed, String) {
        let form = "takes remote for n.title"
        let word = try words.word("local, remote or base", form)
        guard let side = ConflictSide(rawValue: word) else {
            throw StoryError("'\(word)' is no side of a conflict.", "Write: \(form)")
        }
        try words.expect("for", form)
        return (.decide(try words.property(form), side), form)
    }
}

extension StoryWords {
    /// Takes `handle.property`.
    mutating func property(_ form: String) throws -> StoryProperty {
        let word = try word("OBJECT.property", form)
        let parts = word.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            throw StoryError("'\(word)' names no property of an object.", "Write: \(form)")
        }
        return StoryProperty(parts[0], parts[1])
    }

    mutating func expect(_ word: String, _ form: String) throws {
        guard take(word) else {
            throw StoryError("'\(word)' is missing.", "Write: \(form)")
        }
    }
}
