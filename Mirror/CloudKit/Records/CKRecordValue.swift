public import Foundation

/// What a field of a record may hold. Numbers of all types are kept as `NSNumber`, and read back as
/// any of them that has the value. Source: Apple, CKRecordValueProtocol.
public protocol CKRecordValueProtocol: Sendable {}

/// The older name, as in `number as CKRecordValue`. Source: Apple, CKRecordValue.
public typealias CKRecordValue = CKRecordValueProtocol

extension String: CKRecordValueProtocol {}
extension Date: CKRecordValueProtocol {}
extension Data: CKRecordValueProtocol {}
extension Bool: CKRecordValueProtocol {}
extension Int: CKRecordValueProtocol {}
extension Int8: CKRecordValueProtocol {}
extension Int16: CKRecordValueProtocol {}
extension Int32: CKRecordValueProtocol {}
extension Int64: CKRecordValueProtocol {}
extension UInt: CKRecordValueProtocol {}
extension UInt8: CKRecordValueProtocol {}
extension UInt16: CKRecordValueProtocol {}
extension UInt32: CKRecordValueProtocol {}
extension UInt64: CKRecordValueProtocol {}
extension Float: CKRecordValueProtocol {}
extension Double: CKRecordValueProtocol {}
extension NSNumber: CKRecordValueProtocol {}
extension Array: CKRecordValueProtocol where Element: CKRecordValueProtocol {}
extension CKRecord.Reference: CKRecordValueProtocol {}
extension CKAsset: CKRecordValueProtocol {}

/// A value that is kept beside its record, as large ones are. Source: Apple, CKAsset.
///
/// Of a record that was exchanged the contents are not here but in the object's own attribute: then
/// there is no file. Queue: any; it never changes.
public final class CKAsset: NSObject, Sendable {
    /// The file with the contents; nil for the asset of a record that was read.
    public let fileURL: URL?

    /// An asset of a file's contents.
    public init(fileURL: URL) { self.fileURL = fileURL }

    /// The asset of a record that was exchanged.
    override init() { fileURL = nil }
}

extension CKRecord {
    /// Numbers in the one form in which they are kept, also those in lists.
    static func kept(_ value: (any Sendable)?) -> (any Sendable)? {
        guard let value else { return nil }
        if let number = value as? NSNumber { return number }
        if let list = value as? [any Sendable] { return list.compactMap { kept($0) } }
        return value
    }
}
