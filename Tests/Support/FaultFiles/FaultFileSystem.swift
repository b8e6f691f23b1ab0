internal import CSQLite
public import Foundation

/// A file system for SQLite that stands between it and the machine's own, for the files of one
/// folder: it counts what is done to them, and from a given deed on it does nothing any more, as a
/// machine whose power is gone. Files elsewhere are left to the machine.
///
/// It is the process's default from its first use on.
public final class FaultFileSystem: @unchecked Sendable {
    // @unchecked: the lock guards what changes.
    public static let shared = FaultFileSystem()

    /// What happens from the fatal deed on.
    public enum Fault: Sendable {
        /// Every deed fails; what was done before is there.
        case failing
        /// The same, and the deeds of each file since its last sync are undone, by turns.
        case losingUnsynced
        /// The disk is full: nothing grows, all else works.
        case full
    }

    private struct Watch {
        var fault: Fault
        var left: Int
        var count = 0
        var hasStruck = false
        /// What stood in the places written since the last sync, newest last.
        var undone: [String: [(offset: Int64, bytes: Data, size: Int64)]] = [:]
    }

    private let lock = NSLock()
    /// By folder, so that tests of several suites do not meet.
    private var watches: [String: Watch] = [:]
    private let machine: UnsafeMutablePointer<sqlite3_vfs>
    private var own: UnsafeMutablePointer<sqlite3_vfs>

    private init() {
        sqlite3_initialize()
        machine = sqlite3_vfs_find(nil)
        own = .allocate(capacity: 1)
        own.initialize(to: machine.pointee)
        own.pointee.zName = UnsafePointer(strdup("faults"))
        own.pointee.pNext = nil
        own.pointee.szOsFile = Int32(MemoryLayout<FaultFile>.stride) + machine.pointee.szOsFile
        own.pointee.xOpen = { _, name, file, flags, outFlags in
            FaultFileSystem.shared.open(name, file, flags, outFlags)
        }
        own.pointee.xDelete = { _, name, sync in
            let faults = FaultFileSystem.shared
            let path = name.map { String(cString: $0) } ?? ""
            if faults.strikes(path) { return FaultFile.deleteFailed }
            return faults.machine.pointee.xDelete(faults.machine, name, sync)
        }
        sqlite3_vfs_register(own, 1)
    }

    // MARK: For tests

    /// Watches `folder`; the deed number `deed`, from 1, is the first that fails.
    public func begin(_ folder: URL, _ fault: Fault, at deed: Int) {
        lock.withLock { watches[Self.key(folder)] = Watch(fault: fault, left: deed - 1) }
    }

    /// Ends the watch over `folder`. Returns how many deeds there were, and whether one failed.
    public func end(_ folder: URL) -> (count: Int, hasStruck: Bool) {
        let watch = lock.withLock { watches.removeValue(forKey: Self.key(folder)) }
        return (watch?.count ?? 0, watch?.hasStruck ?? false)
    }

    private static func key(_ folder: URL) -> String { folder.path + "/" }

    /// The folder among those watched in which a file is. Under the lock.
    private func watched(_ path: String) -> String? { watches.keys.first(where: path.hasPrefix) }

    // MARK: Deeds

    /// Counts a deed and says whether it fails.
    fileprivate func strikes(_ path: String, grows: Bool = false) -> Bool {
        lock.withLock {
            guard let folder = watched(path), var present = watches[folder] else { return false }
            defer { watches[folder] = present }
            if present.hasStruck { return present.fault == .full ? grows : true }
            present.count += 1
            guard present.left == 0 else {
                present.left -= 1
                return false
            }
            if present.fault == .full, !grows { return false }
            present.hasStruck = true
            if present.fault == .losingUnsynced { Self.undo(present.undone) }
            return true
        }
    }

    /// Keeps what stands in a place before it is written.
    fileprivate func keep(_ path: String, offset: Int64, count: Int) {
        lock.withLock {
            guard let folder = watched(path), let present = watches[folder], !present.hasStruck,
                present.fault == .losingUnsynced
            else { return }
            let handle = fopen(path, "rb")
            defer { if let handle { fclose(handle) } }
            guard let handle else { return }
            fseek(handle, 0, SEEK_END)
            let size = Int64(ftell(handle))
            fseek(handle, Int(offset), SEEK_SET)
            var bytes = Data(count: count)
            let read = bytes.withUnsafeMutableBytes { fread($0.baseAddress, 1, count, handle) }
            watches[folder]?.undone[path, default: []].append((offset, bytes.prefix(read), size))
        }
    }

    fileprivate func forget(_ path: String) {
        lock.withLock {
            guard let folder = watched(path) else { return }
            watches[folder]?.undone[path] = nil
        }
    }

    /// Every second deed of each file is undone: disks write in the order they like.
    private static func undo(_ deeds: [String: [(offset: Int64, bytes: Data, size: Int64)]]) {
        for (path, list) in deeds {
            guard let handle = fopen(path, "rb+") else { continue }
            defer { fclose(handle) }
            for (place, deed) in list.enumerated().reversed() where place.isMultiple(of: 2) {
                fseek(handle, Int(deed.offset), SEEK_SET)
                deed.bytes.withUnsafeBytes { _ = fwrite($0.baseAddress, 1, $0.count, handle) }
                fflush(handle)
                if place == list.count - 1 { ftruncate(fileno(handle), Int(deed.size)) }
            }
        }
    }

    // MARK: Files

    private func open(
        _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let file else { return SQLITE_MISUSE }
        let made = UnsafeMutableRawPointer(file).assumingMemoryBound(to: FaultFile.self)
        let inner = UnsafeMutableRawPointer(file)
            .advanced(by: MemoryLayout<FaultFile>.stride)
            .assumingMemoryBound(to: sqlite3_file.self)
        made.pointee = FaultFile(
            base: sqlite3_file(pMethods: nil), inner: inner,
            path: name.map { strdup($0) })
        let code = machine.pointee.xOpen(machine, name, inner, flags, outFlags)
        guard code == SQLITE_OK, let methods = inner.pointee.pMethods else {
            free(made.pointee.path)
            return code
        }
        made.pointee.base.pMethods = FaultFile.methods(of: methods.pointee)
        return code
    }
}

/// A file of `FaultFileSystem`; the machine's own stands behind it.
private struct FaultFile {
    var base: sqlite3_file
    var inner: UnsafeMutablePointer<sqlite3_file>
    var path: UnsafeMutablePointer<CChar>?

    var name: String { path.map { String(cString: $0) } ?? "" }
    var machine: sqlite3_io_methods { inner.pointee.pMethods.pointee }

    // SQLite spells these with macros that Swift does not see.
    static let syncFailed = SQLITE_IOERR | 4 << 8
    static let truncateFailed = SQLITE_IOERR | 6 << 8
    static let deleteFailed = SQLITE_IOERR | 10 << 8

    /// One table of methods for each version of the machine's.
    private static let lock = NSLock()
    nonisolated(unsafe) private static var tables:
        [Int32: UnsafeMutablePointer<sqlite3_io_methods>] =
            [:]

    static func methods(of machine: sqlite3_io_methods) -> UnsafePointer<sqlite3_io_methods> {
        lock.withLock {
            if let known = tables[machine.iVersion] { return UnsafePointer(known) }
            let made = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
            made.initialize(to: table(version: machine.iVersion))
            tables[machine.iVersion] = made
            return UnsafePointer(made)
        }
    }

    private static func table(version: Int32) -> sqlite3_io_methods {
        var made = sqlite3_io_methods()
        made.iVersion = version
        made.xClose = { file in
            let own = faultFile(file)
            let code = own.machine.xClose(own.inner)
            free(own.path)
            return code
        }
        made.xRead = { file, bytes, count, offset in
            let own = faultFile(file)
            return own.machine.xRead(own.inner, bytes, count, offset)
        }
        made.xWrite = { file, bytes, count, offset in
            let own = faultFile(file)
            if FaultFileSystem.shared.strikes(own.name, grows: true) { return SQLITE_FULL }
            FaultFileSystem.shared.keep(own.name, offset: offset, count: Int(count))
            return own.machine.xWrite(own.inner, bytes, count, offset)
        }
        made.xTruncate = { file, size in
            let own = faultFile(file)
            if FaultFileSystem.shared.strikes(own.name) { return FaultFile.truncateFailed }
            return own.machine.xTruncate(own.inner, size)
        }
        made.xSync = { file, flags in
            let own = faultFile(file)
            if FaultFileSystem.shared.strikes(own.name) { return FaultFile.syncFailed }
            FaultFileSystem.shared.forget(own.name)
            return own.machine.xSync(own.inner, flags)
        }
        made.xFileSize = { faultFile($0).machine.xFileSize(faultFile($0).inner, $1) }
        made.xLock = { faultFile($0).machine.xLock(faultFile($0).inner, $1) }
        made.xUnlock = { faultFile($0).machine.xUnlock(faultFile($0).inner, $1) }
        made.xCheckReservedLock = {
            faultFile($0).machine.xCheckReservedLock(faultFile($0).inner, $1)
        }
        made.xFileControl = { faultFile($0).machine.xFileControl(faultFile($0).inner, $1, $2) }
        made.xSectorSize = { faultFile($0).machine.xSectorSize(faultFile($0).inner) }
        made.xDeviceCharacteristics = {
            faultFile($0).machine.xDeviceCharacteristics(faultFile($0).inner)
        }
        made.xShmMap = { faultFile($0).machine.xShmMap(faultFile($0).inner, $1, $2, $3, $4) }
        made.xShmLock = { faultFile($0).machine.xShmLock(faultFile($0).inner, $1, $2, $3) }
        made.xShmBarrier = { faultFile($0).machine.xShmBarrier(faultFile($0).inner) }
        made.xShmUnmap = { faultFile($0).machine.xShmUnmap(faultFile($0).inner, $1) }
        // Without these SQLite reads no file through memory, past the methods above.
        made.iVersion = min(version, 2)
        return made
    }
}

/// What stands behind a file that SQLite hands back.
private func faultFile(_ file: UnsafeMutablePointer<sqlite3_file>?) -> FaultFile {
    guard let file else { preconditionFailure("SQLite calls the methods of a file with the file") }
    return UnsafeMutableRawPointer(file).assumingMemoryBound(to: FaultFile.self).pointee
}
