/// Rows of schemas, inside one transaction.
protocol SchemaTransaction: AnyObject {
    /// The text that was imported into an environment of a container, or deployed to it.
    func schemaText(container: String, environment: String) throws -> String?
    func saveSchema(_ text: String, container: String, environment: String) throws
    /// How many records have a field, and in how many databases.
    func countUses(
        of field: FieldKey, container: String, environment: String
    ) throws -> FieldHolders
    /// The fields of all records in an environment of a container with their types, by record type
    /// and field, at most `limit`. A field that users have with different types comes once for
    /// each.
    func usedFields(
        container: String, environment: String, limit: Int
    ) throws -> [(key: FieldKey, type: String)]
}
