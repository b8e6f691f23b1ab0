/// A JSON object being read. Requests are read strictly: a key that is not known is refused.
/// Answers are read leniently, since a service may say more than this version knows.
struct WireObject {
    let value: JSONValue
    let isStrict: Bool

    /// Throws where the value is no object.
    init(_ value: JSONValue, isStrict: Bool) throws {
        guard value.kind == .object else { throw value.mismatch("an object") }
        self.value = value
        self.isStrict = isStrict
    }

    var members: JSONMembers { JSONMembers(of: value) }

    /// Refuses any key outside `known`, naming it.
    func allow(_ known: @autoclosure () -> [WireKey]) throws {
        guard isStrict else { return }
        let known = known()
        for member in members where !known.contains(where: { member.isNamed($0) }) {
            throw unknown(member)
        }
    }

    func unknown(_ member: JSONMembers.Member) -> RecordError {
        WireProblem.at(member.value.place, "is not a key of this request; remove it")
    }

    /// The value under a key, which may be null; nil when the key is absent. The first counts where
    /// an answer names a key twice.
    func find(_ key: WireKey) -> JSONValue? {
        for member in members where member.isNamed(key) { return member.value }
        return nil
    }

    func contains(_ key: WireKey) -> Bool { find(key) != nil }

    /// The value under a key; nil when it is absent or null.
    private func present(_ key: WireKey) -> JSONValue? {
        guard let value = find(key), !value.isNull else { return nil }
        return value
    }

    func has(_ key: WireKey) -> Bool { present(key) != nil }

    /// The value under a key, which may be null. Throws when the key is absent.
    func wanted(_ key: WireKey) throws -> JSONValue {
        guard let value = find(key) else { throw refusal(key, "is missing") }
        return value
    }

    // MARK: Values. Each is nil when the key is absent or null.

    func string(_ key: WireKey) throws -> String? { try present(key)?.string() }

    func integer(_ key: WireKey) throws -> Int64? {
        guard let value = present(key) else { return nil }
        guard let number = try value.wholeNumber() else {
            throw refusal(key, WireNumber.wanted)
        }
        return number
    }

    func bool(_ key: WireKey) throws -> Bool? { try present(key)?.bool() }

    /// A Boolean where clients are known to write it as a number, 1 or 0.
    func flag(_ key: WireKey) throws -> Bool? {
        guard let value = present(key) else { return nil }
        guard case .whole = value.kind else { return try value.bool() }
        let number = try value.wholeNumber()
        guard let number, (0...1).contains(number) else {
            throw refusal(key, "is true, false, 1 or 0")
        }
        return number == 1
    }

    /// A number, or text that spells one.
    func double(_ key: WireKey) throws -> Double? {
        try present(key)?.double { refusal(key, $0) }
    }

    func object(_ key: WireKey) throws -> WireObject? { try present(key).map(child) }

    /// A value within this one as an object that is read as strictly.
    func child(_ value: JSONValue) throws -> WireObject {
        try WireObject(value, isStrict: isStrict)
    }

    func required<Value>(
        _ key: WireKey, _ read: (WireKey) throws -> Value?
    ) throws -> Value {
        guard let value = try read(key) else { throw refusal(key, "is missing") }
        return value
    }

    /// The count of results asked for; it must be at least 1.
    func limit(_ key: WireKey) throws -> Int? {
        guard let value = try integer(key) else { return nil }
        guard value > 0 else { throw refusal(key, "must be at least 1") }
        return Int(clamping: value)
    }

    func strings(_ key: WireKey) throws -> [String]? {
        try elements(key)?.map { try $0.string() }
    }

    /// Reads the array at `key`, one object after another; nil when it is absent.
    func objects<Value>(
        _ key: WireKey, _ read: (WireObject) throws -> Value
    ) throws -> [Value]? {
        try elements(key)?.map { try read(child($0)) }
    }

    private func elements(_ key: WireKey) throws -> JSONElements? {
        guard let value = present(key) else { return nil }
        let elements = try value.array()
        guard value.count <= WireLimits.elementsMax else {
            var error = refusal(
                key,
                "has \(value.count) elements; at most \(WireLimits.elementsMax) fit in one "
                    + "body")
            error.code = .limitExceeded
            throw error
        }
        return elements
    }

    // MARK: Refusals

    func refusal(_ key: WireKey, _ reason: String) -> RecordError {
        let place = value.place
        return WireProblem.at(place.isEmpty ? key.text : "\(place).\(key.text)", reason)
    }
}
