package import RecordWire

/// The record below which the objects of a share are.
package enum ShareRoot {
    package static let recordType = RecordNames.shareRootType

    /// What it says of itself. Nobody reads it: a service learns record types by their fields, and
    /// brings to production what it learnt.
    package static let fields: RecordFields = [RecordNames.entityName: .string(recordType)]

    static func record(named name: String) -> Record {
        var record = Record(recordName: name, recordType: recordType)
        record.fields = fields
        return record
    }
}
