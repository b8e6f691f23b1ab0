internal import RecordWire

/// What a caller may do with the records of one zone, inside one transaction.
protocol RecordAccess: AnyObject {
    /// Whether no record is hidden.
    var seesAll: Bool { get }
    /// What is hidden, as sync tokens carry it; nil where nothing is hidden by roles.
    var view: HiddenView? { get throws }
    func sees(_ row: RecordRow) throws -> Bool
    /// Refuses an operation. Throws ACCESS_DENIED, NOT_FOUND for what is not seen, or BAD_REQUEST.
    func check(_ operation: RecordOperation, on row: RecordRow?) throws
}

extension RecordAccess {
    var view: HiddenView? { nil }
}

/// Of a zone of the caller's own.
final class OwnAccess: RecordAccess {
    let seesAll = true
    func sees(_ row: RecordRow) -> Bool { true }
    func check(_ operation: RecordOperation, on row: RecordRow?) {}
}

/// By what it is decided who may do what.
struct AccessRules {
    let publicAccess: PublicAccess
    let caller: Caller
    let schemas: SchemaMemory
    /// Fields that the client does not see, and takes away from no record.
    var retired = RetiredFields.none
    /// The service itself asks, which may do anything.
    var isService = false

    /// To a database that is the caller's own or the public one.
    func access(
        to key: DatabaseKey, _ transaction: any BackendTransaction
    ) throws -> any RecordAccess {
        guard key.isPublic, !isService else { return OwnAccess() }
        return try RoleAccess(
            publicAccess, user: caller.userRecordName, container: key.container, transaction)
    }
}
