internal import Foundation
internal import SQLiteDriver

extension StoreAccess {
    /// The name under which the store's device writes records; nil before the first round. The
    /// store is only read.
    func deviceID() throws -> String? {
        try ReadingConnection.open(url).value(
            "SELECT ZSTRINGVALUE FROM ANSCKMETADATAENTRY WHERE ZKEY = 'DiptychDeviceIdentifier'")?
            .string
    }
}
