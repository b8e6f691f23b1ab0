internal import Foundation
internal import ObjectModel

/// An object as Apple's framework prints it.
///
/// `<Person: 0x…> (entity: Person; id: 0x… <x-coredata://…>; data: { … })`, with `<fault>` in the
/// place of values that are not read. Printing reads nothing.
struct ManagedObjectText {
    let object: NSManagedObject

    var text: String {
        let name = object.entity.name ?? ""
        let head = "<\(type(of: object)): \(Self.address(of: object))> (entity: \(name); "
        return head + "id: \(object.objectID); data: \(data))"
    }

    private var data: String {
        guard !object.isFault else { return "<fault>" }
        let lines = object.shape.propertyNames.sorted().compactMap { name in
            value(name).map { "    \(PropertyText.quoted(name)) = \($0);\n" }
        }
        return "{\n" + lines.joined() + "}"
    }

    private func value(_ name: String) -> String? {
        guard let slot = object.shape.slot(name) else { return nil }
        switch slot {
        case .attribute, .composite: return PropertyText.text(of: object.read(slot, name))
        case .transient: return PropertyText.text(of: object.read(slot, name))
        case .toOne(let index):
            return object.toOnes[index].map { PropertyText.quoted("\($0)") } ?? "nil"
        case .toMany(let index):
            let members = object.toManys[index]
            guard members.isLoaded else {
                return "\"<relationship fault: \(Self.address(of: object)) '\(name)'>\""
            }
            let lines = members.all.map { "        " + PropertyText.quoted("\($0.id)") }
            return lines.isEmpty ? "(\n    )" : "(\n" + lines.joined(separator: ",\n") + "\n    )"
        case .fetched:
            return "\"<fetched property fault: \(Self.address(of: object)) '\(name)'>\""
        }
    }

    /// Where an object is in memory.
    static func address(of object: AnyObject) -> String {
        "0x" + String(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), radix: 16)
    }
}

/// Values as Apple's property lists print them; what could steer a terminal is escaped.
enum PropertyText {
    static func text(of value: Any?) -> String {
        switch value {
        case nil: "nil"
        case let data as Data: data.isEmpty ? "{length = 0, bytes = 0x}" : bytes(data)
        case let text as String: quoted(text)
        case let date as Date: quoted(date.description)
        case let members as [String: Any]:
            "{ "
                + members.sorted { $0.key < $1.key }
                .map { "\(quoted($0.key)) = \(text(of: $0.value));" }.joined(separator: " ") + " }"
        case .some(let value): quoted("\(value)")
        }
    }

    private static func bytes(_ data: Data) -> String {
        let shown = data.prefix(24).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        let rest = data.count > 24 ? " ... " : ""
        return "{length = \(data.count), bytes = 0x\(shown.joined())\(rest)}"
    }

    /// A text as it is where it is one plain word or number, otherwise in quotes.
    static func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.unicodeScalars.allSatisfy { scalar in
                scalar.isASCII
                    && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                        || "_.$/:".unicodeScalars.contains(scalar))
            }
        return isPlain ? text : "\"" + escaped(text) + "\""
    }

    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            default:
                let isControl =
                    scalar.properties.generalCategory == .control
                    || scalar.properties.generalCategory == .format
                if isControl {
                    let digits = String(scalar.value, radix: 16)
                    result += "\\U" + String(repeating: "0", count: max(0, 4 - digits.count))
                    result += digits
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result
    }
}
