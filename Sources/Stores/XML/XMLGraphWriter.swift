internal import Foundation

/// Writes an XML store in a form that version control can compare: four spaces a level, one line a
/// property, everything in a fixed order.
struct XMLGraphWriter {
    private var text = ""

    static func data(_ graph: StoredGraph) throws -> Data {
        var writer = XMLGraphWriter()
        try writer.writeHead(graph)
        for object in graph.objects { writer.write(object) }
        writer.text += "</database>\n"
        return Data(writer.text.utf8)
    }

    private mutating func writeHead(_ graph: StoredGraph) throws {
        guard let metadata = XMLPropertyList.text(graph.metadata, margin: Self.margin(4)) else {
            throw StoreError(
                .invalidValue,
                "The metadata holds a value that no property list can hold, or nests too deep; "
                    + "remove it.")
        }
        text += """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

            <database>
                <databaseInfo>
                    <version>134481920</version>
                    <UUID>\(Self.quoted(graph.identifier))</UUID>
                    <nextObjectID>\(graph.lastKey)</nextObjectID>
                    <metadata>
                        <plist version="1.0">
            \(metadata)            </plist>
                    </metadata>
                </databaseInfo>

            """
    }

    private static func margin(_ level: Int) -> String { String(repeating: "    ", count: level) }

    private mutating func write(_ object: StoredObject) {
        text += "    <object type=\"\(Self.quoted(object.entity))\" id=\"z\(object.key)\">\n"
        for attribute in object.attributes { write(attribute) }
        for relationship in object.relationships { write(relationship) }
        text += "    </object>\n"
    }

    private mutating func write(_ attribute: StoredAttribute) {
        let value =
            switch attribute.value {
            case .text(let text), .uri(let text): XMLText.escaped(text)
            case .data(let data): Self.lines(data)
            default: StoredType.text(of: attribute.value, as: attribute.type)
            }
        text += "        <attribute name=\"\(Self.quoted(attribute.name))\" "
        text += "type=\"\(Self.quoted(attribute.type))\">\(value)</attribute>\n"
    }

    /// Long values on lines of 76 characters, as Apple's.
    private static func lines(_ data: Data) -> String {
        guard data.count > 57 else { return data.base64EncodedString() }
        let lines: Data.Base64EncodingOptions = [.lineLength76Characters, .endLineWithLineFeed]
        return data.base64EncodedString(options: lines) + "\n"
    }

    private mutating func write(_ relationship: StoredRelationship) {
        text += "        <relationship name=\"\(Self.quoted(relationship.name))\" "
        text += "type=\"\(relationship.minCount)/\(relationship.maxCount)\" "
        text += "destination=\"\(Self.quoted(relationship.destination))\""
        if !relationship.targets.isEmpty {
            let names = relationship.targets.map { "z\($0)" }.joined(separator: " ")
            text += " idrefs=\"\(names)\""
        }
        text += "></relationship>\n"
    }

    /// A name; what XML cannot hold in it is left out, as no entity of a model has such a name.
    private static func quoted(_ name: String) -> String {
        XMLText.quoted(name) ?? ""
    }
}
