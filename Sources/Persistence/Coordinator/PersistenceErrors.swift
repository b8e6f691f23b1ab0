internal import Foundation
internal import ObjectModel
internal import Predicates
internal import SQLiteDriver
internal import Stores

/// Makes the errors of this module: Apple's domain, codes and keys, with a sentence that says what
/// to do.
enum PersistenceErrors {
    static func make(
        _ code: Int, _ message: String, _ userInfo: [String: Any] = [:]
    ) -> NSError {
        var userInfo = userInfo
        userInfo[NSLocalizedDescriptionKey] = message
        return NSError(domain: NSCocoaErrorDomain, code: code, userInfo: userInfo)
    }

    /// A property's value that breaks a rule, where no object tells of it.
    static func invalid(
        _ property: String, of entity: String, _ complaint: (code: Int, text: String)
    ) -> NSError {
        make(
            complaint.code, "The property \"\(property)\" of \"\(entity)\" \(complaint.text).",
            [NSValidationKeyErrorKey: property])
    }

    static var noCoordinator: NSError {
        make(
            NSCoreDataError,
            "The context has no coordinator; set persistentStoreCoordinator or parent first.")
    }

    static var noCurrentContext: NSError {
        make(
            NSCoreDataError,
            "No context is in use here; run the request inside perform, or with context.fetch.")
    }

    static func missingObject(_ id: NSManagedObjectID) -> NSError {
        make(
            NSManagedObjectReferentialIntegrityError,
            "The object is not in the store any more; fetch again.",
            [NSAffectedObjectsErrorKey: [id]])
    }

    static var unreadObject: NSError {
        make(
            NSPersistentStoreOperationError,
            "An object of the save cannot be read, so its changes cannot be written; save again "
                + "when the store can be read, or roll back.")
    }

    static func noRelationship(_ key: String, in entity: String) -> NSError {
        make(
            NSCoreDataError,
            "\(entity) has no relationship '\(key)' to prefetch; check the key path's spelling.")
    }

    /// Apple's code, which has no name there.
    static func recursiveSave() -> NSError {
        make(
            132001,
            "attempt to recursively call -save: on the context aborted; the changes go with the "
                + "save that is on its way. Save from didSave or the DidSave notification.")
    }

    static func unknownEntity(_ name: String?) -> NSError {
        make(
            NSCoreDataError,
            "The request names no entity of the model; check the spelling and the model.",
            ["entity": name ?? ""])
    }

    static func resultType(of value: Any?, wanted: String) -> NSError {
        let found = value.map { "\(type(of: $0))" } ?? "nothing"
        return make(
            NSCoreDataError,
            "The results are \(found), not \(wanted); check the request's resultType, the model's "
                + "class name, and NSManagedObject.register(_:).")
    }

    static func unsortedSections(_ name: String, at index: Int) -> NSError {
        let reason =
            "The fetched object at index \(index) has an out of order section name '\(name)'. "
            + "Objects must be sorted by section name"
        return make(
            NSCoreDataError,
            "The results do not stand in the order of their sections; sort by the section's key "
                + "path first.", ["reason": reason])
    }

    /// Apple's code for a token that names none of the stores; it has no public name.
    static let historyTokenOfOtherStores = 134_501

    static func unsupported(_ message: String) -> NSError {
        make(NSPersistentStoreUnsupportedRequestTypeError, message)
    }

    static func noStore(for entity: String) -> NSError {
        make(
            NSPersistentStoreSaveError,
            "No writable store takes objects of this entity; add one or change its configuration.",
            ["entity": entity])
    }

    static func twin(_ store: NSPersistentStore, of other: NSPersistentStore) -> NSError {
        make(
            NSPersistentStoreOpenError + 1,
            "Can't add the same store twice: the store at \(other.url?.path ?? "no path") has the "
                + "same identifier. Give a copy one of its own: open it in another coordinator, "
                + "and move it with migratePersistentStore.",
            [NSStoreUUIDKey: store.identifier ?? "", NSFilePathErrorKey: store.url?.path ?? ""])
    }

    static func readOnly(_ store: NSPersistentStore) -> NSError {
        make(
            NSPersistentStoreSaveError,
            store.rowStore.isClosedToWriting
                ? "The store has a history, in which a save without one would leave a gap: open it "
                    + "with NSPersistentHistoryTrackingKey, or delete its history first."
                : "The store is read-only; open it without that option to save.",
            [NSAffectedStoresErrorKey: [store]])
    }

    /// A store's error in Apple's terms; other errors as they are.
    static func translate(_ error: any Error) -> any Error {
        if let violation = error as? UniquenessViolation { return taken(violation) }
        guard let failure = error as? StoreError else { return error }
        var userInfo: [String: Any] = failure.fields
        userInfo[NSUnderlyingErrorKey] = failure
        if let fault = failure.cause as? SQLiteFault {
            userInfo[NSSQLiteErrorDomain] = NSNumber(value: fault.code)
        }
        let code = code(of: failure)
        if let path = failure.fields["path"], (256...260).contains(code) {
            userInfo[NSFilePathErrorKey] = path
        }
        return make(code, failure.message, userInfo)
    }

    /// An error as one of Foundation's, as all are on Apple's platforms once they went through Core
    /// Data: `catch let error as NSError` takes no others here, and a function that catches nothing
    /// else would end the program. A Swift error of the program's is the underlying one.
    static func bridged(_ error: any Error) -> any Error {
        let value: Any = error
        if value is NSError || error is CancellationError { return error }
        if let failure = error as? EvaluationError {
            var userInfo: [String: Any] = failure.fields
            userInfo[NSUnderlyingErrorKey] = failure
            return make(NSPersistentStoreUnsupportedRequestTypeError, failure.message, userInfo)
        }
        let known = error as NSError
        var userInfo = known.userInfo
        userInfo[NSUnderlyingErrorKey] = error
        if userInfo[NSLocalizedDescriptionKey] == nil {
            let text = error is any LocalizedError ? nil : value as? any CustomStringConvertible
            userInfo[NSLocalizedDescriptionKey] = text?.description ?? known.localizedDescription
        }
        return NSError(domain: known.domain, code: known.code, userInfo: userInfo)
    }

    private static func taken(_ violation: UniquenessViolation) -> NSError {
        make(
            NSManagedObjectConstraintMergeError,
            "An object with the same unique values exists; change them, or set a merge policy.",
            [
                "entity": violation.entity, "constraint": violation.constraint,
                NSUnderlyingErrorKey: violation,
            ])
    }

    /// Apple's code. Programs tell by those of files whether to put a damaged one aside.
    private static func code(of failure: StoreError) -> Int {
        switch failure.code {
        case .notAStore:
            isFile(failure) ? CocoaError.fileReadCorruptFile.rawValue : NSPersistentStoreOpenError
        case .corrupt: CocoaError.fileReadCorruptFile.rawValue
        case .cannotOpen: isFile(failure) ? openingCode(failure) : NSPersistentStoreOpenError
        case .modelMismatch: NSPersistentStoreIncompatibleVersionHashError
        case .readOnly, .diskFull: NSPersistentStoreSaveError
        case .busy: NSPersistentStoreTimeoutError
        case .historyExpired: NSPersistentHistoryTokenExpiredError
        case .missingRow: NSManagedObjectReferentialIntegrityError
        case .unsupported: NSPersistentStoreUnsupportedRequestTypeError
        case .failed: NSSQLiteError
        default: NSPersistentStoreOperationError
        }
    }

    /// Whether what cannot be opened is a file, rather than a folder, a device or nothing.
    private static func isFile(_ failure: StoreError) -> Bool {
        failure.fields["path"].map { FileKind(at: $0) == .file } ?? true
    }

    private static func openingCode(_ failure: StoreError) -> Int {
        if let path = failure.fields["path"], access(path, R_OK) != 0 {
            return CocoaError.fileReadNoPermission.rawValue
        }
        return failure.cause is SQLiteFault
            ? CocoaError.fileReadUnknown.rawValue : NSPersistentStoreOpenError
    }

    /// The error of whoever wants to read a file that is not there.
    static func noFile(at path: String) -> NSError {
        make(
            CocoaError.fileReadNoSuchFile.rawValue, "There is no file at this path.",
            [NSFilePathErrorKey: path])
    }
}
