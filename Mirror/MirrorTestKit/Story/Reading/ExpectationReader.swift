internal import MirrorEngine

/// Reads what is expected.
struct ExpectationReader {
    let devices: [String]

    func read(_ words: inout StoryWords, under rule: String?) throws -> StoryExpectation {
        let (fact, form) = try fact(&words)
        var expectation = StoryExpectation(fact, under: rule)
        if words.take("on") { expectation.holders = try holders(&words) }
        try words.end(form + " on Ann")
        return expectation
    }

    private func fact(_ words: inout StoryWords) throws -> (StoryExpectation.Fact, String) {
        if words.takeAny("everyone agrees", "agreement") { return (.agreement, "everyone agrees") }
        if words.takeAny("nothing was logged", "no conflict") {
            return (.nothingLogged, "nothing was logged")
        }
        if words.takeAny("it was refused", "it is refused") { return (.refused, "it was refused") }
        if words.take("it told") {
            let form = "it told \"older state\""
            guard case .text(let text) = try words.value(form) else {
                throw StoryError("The words stand in quotes.", "Write: \(form)")
            }
            return (.told(text), form)
        }
        if let word = words.plain, let count = Int(word), count >= 0 {
            _ = words.take()
            return (.count(count, entity: try words.word("an entity", "1 Note")), "1 Note")
        }
        if let name = words.plain, devices.contains(name) || name == "everyone" {
            _ = words.take()
            return try standing(name, &words)
        }
        return try ofObject(&words)
    }

    private func standing(
        _ name: String, _ words: inout StoryWords
    ) throws -> (StoryExpectation.Fact, String) {
        let form = "Ann is in sync, or Ann is not in sync"
        let names = name == "everyone" ? devices : [name]
        if words.takeAny("is in sync", "are in sync") { return (.inSync(names, true), form) }
        if words.takeAny("is not in sync", "are not in sync") {
            return (.inSync(names, false), form)
        }
        throw StoryError("Of a device, 'in sync' can be expected.", "Write: \(form)")
    }

    private func ofObject(
        _ words: inout StoryWords
    ) throws -> (StoryExpectation.Fact, String) {
        guard let word = words.plain else {
            throw StoryError("What is expected is missing.", "Write: expect n.title is \"Milk\"")
        }
        guard !word.contains(".") else { return try ofProperty(&words) }
        let form = "n is there, n is gone, a and b are one, n was logged by deleteWins"
        let handles = try words.list("an object", form)
        if words.takeAny("is there", "are there") { return (.isThere(handles), form) }
        if words.takeAny("is gone", "are gone") { return (.isGone(handles), form) }
        if words.takeAny("are one", "is one"), handles.count == 2 {
            return (.isOne(handles[0], handles[1]), form)
        }
        if words.take("was logged"), handles.count == 1 {
            let rule = words.take("by") ? try words.word("a rule", form) : nil
            return (.logged(nil, handle: handles[0], rule: rule), form)
        }
        throw StoryError("That cannot be expected of an object.", "Write: \(form)")
    }

    private func ofProperty(
        _ words: inout StoryWords
    ) throws -> (StoryExpectation.Fact, String) {
        let form =
            "n.title is \"Milk\", f.notes are a, b, n.title was logged by local, "
            + "n.title waits"
        let property = try words.property(form)
        if words.takeAny("is", "are") {
            var values = [try words.value(form)]
            while words.takeComma() || words.take("and") {
                _ = words.take("and")
                values.append(try words.value(form))
            }
            return (.value(property, values), form)
        }
        if words.take("was logged") {
            let rule = words.take("by") ? try words.word("a rule", form) : nil
            return (.logged(property, handle: nil, rule: rule), form)
        }
        if words.take("waits") { return (.waits(property), form) }
        throw StoryError("That cannot be expected of a property.", "Write: \(form)")
    }

    private func holders(_ words: inout StoryWords) throws -> [String] {
        var holders: [String] = []
        repeat {
            _ = words.take("and")
            if words.takeAny("the service", "service") {
                holders.append(StoryExpectation.service)
            } else {
                let name = try words.word("a device, or the service", "on Ann and Ben")
                guard devices.contains(name) else {
                    throw StoryError(
                        "There is no device \(name).",
                        "The devices are: \(devices.joined(separator: ", ")).")
                }
                holders.append(name)
            }
        } while words.takeComma() || words.take("and")
        return holders
    }
}
