internal import Foundation

/// Reads a line of JSON with the meaning of a script's line.
enum JSONScript {
    private static let form =
        "Write {\"insert\": ENTITY, \"as\": ALIAS, \"values\": {…}}, {\"set\": OBJECT, \"values\": "
        + "{…}}, {\"link\": \"OBJECT.relationship\", \"to\": OBJECT, \"at\": PLACE}, "
        + "{\"unlink\": …, \"from\": OBJECT}, {\"delete\": OBJECT} or {\"save\": true}."

    static func action(_ line: String) throws -> ScriptStep.Action {
        guard
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        else { throw ScriptError("The line is no JSON object.", form) }
        let verbs = LineScript.verbs.filter { object[$0] != nil }
        guard verbs.count == 1, let verb = verbs.first else {
            throw ScriptError("The object must have one verb.", form)
        }
        let known = ["as", "values", "to", "from", "at", verb]
        if let stranger = object.keys.sorted().first(where: { !known.contains($0) }) {
            throw ScriptError("The key '\(stranger)' means nothing here.", form)
        }
        switch verb {
        case "insert":
            return .insert(
                entity: try text(object, verb), alias: try alias(object),
                values: try values(object))
        case "set":
            return .set(try ScriptTarget(text(object, verb)), values: try values(object))
        case "link":
            let (target, relationship) = try ScriptTarget.path(text(object, verb))
            return .link(
                target, relationship: relationship, try members(object["to"]),
                place: try place(object))
        case "unlink":
            let (target, relationship) = try ScriptTarget.path(text(object, verb))
            return .unlink(target, relationship: relationship, try members(object["from"]))
        case "delete": return .delete(try ScriptTarget(text(object, verb)))
        default:
            guard let isMeant = object[verb] as? Bool, isMeant else {
                throw ScriptError("'save' must be true.", form)
            }
            return .save
        }
    }

    private static func alias(_ object: [String: Any]) throws -> String? {
        object["as"] == nil ? nil : try text(object, "as")
    }

    /// Where the first of linked objects goes; nil for the end.
    private static func place(_ object: [String: Any]) throws -> Int? {
        guard let given = object["at"] else { return nil }
        // Foundation reads true as a number, too.
        guard let number = given as? NSNumber, String(cString: number.objCType) != "c",
            let place = Int(number.stringValue), place >= 0
        else {
            throw ScriptError("'at' must be a whole number from 0 on.", "Write 0 for the first.")
        }
        return place
    }

    private static func text(_ object: [String: Any], _ key: String) throws -> String {
        guard let text = object[key] as? String else {
            throw ScriptError("'\(key)' must be a text.", form)
        }
        return text
    }

    private static func values(_ object: [String: Any]) throws -> [ScriptStep.Assignment] {
        guard let given = object["values"] else { return [] }
        guard let values = given as? [String: Any] else {
            throw ScriptError("'values' must be an object.", form)
        }
        return try values.sorted { $0.key < $1.key }.map {
            ScriptStep.Assignment(key: $0.key, value: try value($0.value, of: $0.key))
        }
    }

    private static func value(_ value: Any, of key: String) throws -> ScriptValue {
        switch value {
        case is NSNull: return .null
        case let text as String: return .text(text)
        case let number as NSNumber:
            // A Boolean is a number of this type alone, and would pass for 1 or 0.
            let isBoolean = String(cString: number.objCType) == "c"
            return .text(isBoolean ? String(number.boolValue) : number.stringValue)
        default:
            throw ScriptError(
                "The value of '\(key)' is a list or an object.",
                "Write a text, a number, true, false or null.")
        }
    }

    private static func members(_ value: Any?) throws -> [ScriptTarget] {
        if let text = value as? String { return [try ScriptTarget(text)] }
        guard let texts = value as? [String], !texts.isEmpty else {
            throw ScriptError("The other object is missing.", form)
        }
        return try texts.map(ScriptTarget.init)
    }
}
