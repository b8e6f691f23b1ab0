internal import RecordWire

extension RecordFields {
    /// Takes what an update says: a field without a value is cleared, and is there no more.
    mutating func take(_ update: RecordFields) {
        for (name, value) in update {
            if let value {
                self[name] = value
            } else {
                removeValue(forKey: name)
            }
        }
    }
}
