internal import Foundation

/// A JSON object being read. Requests are read strictly: a key that is not known is refused.
/// Answers are read leniently, since a service may say more than this version knows.
struct WireObject {
    typealias Keyed = KeyedDecodingContainer<WireKey>

    let container: Keyed
    let isStrict: Bool

    init(_ container: Keyed, isStrict: Bool) {
        self.container = container
        self.isStrict = isStrict
    }

    init(_ decoder: any Decoder, isStrict: Bool) throws {
        self.init(try decoder.container(keyedBy: WireKey.self), isStrict: isStrict)
    }

    /// Refuses any key outside `known`, naming it.
    func allow(_ known: Set<String>) throws {
        guard isStrict else { return }
        for key in container.allKeys where !known.contains(key.stringValue) {
            throw unknown(key)
        }
    }

    func unknown(_ key: WireKey) -> RecordError {
        refusal(key, "is not a key of this request; remove it")
    }

    /// Refuses `keys` with a reason of their own, before `allow` calls them unknown.
    func refuse(_ keys: [String], _ reason: String) throws {
        guard isStrict else { return }
        for name in keys where container.contains(WireKey(name)) {
            throw refusal(WireKey(name), reason)
        }
    }

    func has(_ key: WireKey) -> Bool {
        guard container.contains(key) else { return false }
        return (try? container.decodeNil(forKey: key)) == false
    }

    // MARK: Values. Each is nil when the key is absent or null.

    func string(_ key: WireKey) throws -> String? {
        try container.decodeIfPresent(String.self, forKey: key)
    }

    func integer(_ key: WireKey) throws -> Int64? {
        has(key) ? try wholeNumber(key) : nil
    }

    func wholeNumber(_ key: WireKey) throws -> Int64 {
        try number(key, WireNumber.wanted, spelled: nil)
    }

    /// A number, or text that `spelled` understands. Text is tried second, because a throw costs
    /// more than reading a whole record. Foundation throws an error of its own, without a place,
    /// for a number out of the type's range; `reason` says that in our words.
    func number<Number: Decodable>(
        _ key: WireKey, _ reason: String, spelled: ((String) -> Number?)?
    ) throws -> Number {
        do {
            return try container.decode(Number.self, forKey: key)
        } catch let error as DecodingError {
            guard let spelled, let text = try? container.decode(String.self, forKey: key) else {
                throw error
            }
            guard let number = spelled(text) else { throw refusal(key, WireNumber.misspelled) }
            return number
        } catch {
            throw refusal(key, reason)
        }
    }

    func bool(_ key: WireKey) throws -> Bool? {
        try container.decodeIfPresent(Bool.self, forKey: key)
    }

    func double(_ key: WireKey) throws -> Double? {
        guard has(key) else { return nil }
        return try number(key, WireNumber.tooLarge, spelled: WireNumber.double)
    }

    func object(_ key: WireKey) throws -> WireObject? {
        has(key) ? try child(key) : nil
    }

    func child(_ key: WireKey) throws -> WireObject {
        WireObject(
            try container.nestedContainer(keyedBy: WireKey.self, forKey: key), isStrict: isStrict)
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
        guard has(key) else { return nil }
        var list = try container.nestedUnkeyedContainer(forKey: key)
        try checkCount(list.count, key)
        var result: [String] = []
        while !list.isAtEnd { result.append(try list.decode(String.self)) }
        return result
    }

    /// Reads the array at `key`, one object after another; nil when it is absent.
    func objects<Value>(
        _ key: WireKey, _ read: (WireObject) throws -> Value
    ) throws -> [Value]? {
        guard has(key) else { return nil }
        var list = try container.nestedUnkeyedContainer(forKey: key)
        try checkCount(list.count, key)
        var result: [Value] = []
        result.reserveCapacity(list.count ?? 0)
        while !list.isAtEnd {
            let element = try list.nestedContainer(keyedBy: WireKey.self)
            result.append(try read(WireObject(element, isStrict: isStrict)))
        }
        return result
    }

    // MARK: Refusals

    func refusal(_ key: WireKey, _ reason: String) -> RecordError {
        WireProblem.at(container.codingPath + [key], reason)
    }

    private func checkCount(_ count: Int?, _ key: WireKey) throws {
        guard let count, count > WireLimits.elementsMax else { return }
        var error = refusal(
            key, "has \(count) elements; at most \(WireLimits.elementsMax) fit in one body")
        error.code = .limitExceeded
        throw error
    }
}
