import Foundation
import Predicates

/// An object that answers keys.
final class Person: KeyValueReading, IdentityReading {
    var values: [String: Any?]

    init(_ values: [String: Any?]) { self.values = values }

    func value(forKey key: String) throws -> Any? {
        guard let value = values[key] else {
            throw EvaluationError(.unknownKey, "A person has no \(key).", fields: ["key": key])
        }
        return value
    }

    var predicateIdentity: AnyHashable { ObjectIdentifier(self) }
}

extension Person {
    static var anna: Person {
        Person([
            "name": "Anna", "age": 30, "score": 2.5, "nick": nil, "isMember": true,
            "born": Date(timeIntervalSinceReferenceDate: 100), "price": Decimal(string: "9.90"),
            "id": UUID(uuidString: "00000000-0000-0000-0000-000000000001"),
            "pets": [
                Person(["name": "Rex", "age": 3, "toys": ["ball", "bone"]]),
                Person(["name": "Ida", "age": 5, "toys": [String]()]),
            ],
            "numbers": Set([1, 2, 3]), "twice": [1, 2, 1], "empty": [Int](),
            "map": ["A": 1, "B": 2],
            "boss": Person(["name": "Zoë", "age": nil]), "nobody": nil,
            "ordered": NSOrderedSet(array: ["x", "y"]), "home": URL(string: "https://a.example/b"),
            "bytes": Data([1, 2]), "tall": Float(1.5), "small": Int16(7),
            "number": NSNumber(value: 4),
        ])
    }
}
