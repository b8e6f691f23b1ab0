internal import Foundation
internal import RecordWire

/// The text of `.ckdb` files. What is read is written, and reads as the same.
enum SchemaTarget {
    static func read(_ data: Data) throws {
        let schema = try RecordSchema(text: String(decoding: data, as: UTF8.self))
        let again: RecordSchema
        do {
            again = try RecordSchema(text: schema.text)
        } catch {
            throw BrokenPromise(description: "its own text is refused: \(error)")
        }
        guard again.text == schema.text else {
            throw BrokenPromise(description: "its own text reads as another schema")
        }
        _ = SchemaDifference(from: RecordSchema(), to: schema)
        _ = SchemaDifference(from: schema, to: again)
    }
}
