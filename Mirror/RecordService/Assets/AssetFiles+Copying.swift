internal import Foundation
internal import RecordWire

extension AssetFiles {
    private static let pieceBytes = 1 << 20

    /// Copies the contents that another folder has not, or has cut, each on the disk there before
    /// it has its name. A file that is not what its name says is left out, and told to the log.
    func copy(to other: AssetFiles) throws(RecordError) {
        for checksum in contents(before: .distantFuture) {
            try CopyWork.checkIsWanted()
            guard let file = try open(checksum),
                try other.copy(of: checksum, size: file.size) == nil
            else { continue }
            let copy = try other.begin()
            try Self.append(file, to: copy)
            guard try copy.finish() == checksum else {
                noteDamage(of: checksum)
                continue
            }
            try other.keep(copy, as: checksum)
        }
    }

    private static func append(
        _ file: AssetFile, to copy: IncomingFile
    ) throws(RecordError) {
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceBytes, alignment: 16)
        defer { piece.deallocate() }
        while true {
            let count = read(file.descriptor, piece.baseAddress, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else {
                throw RecordError(
                    .internalError,
                    "An asset cannot be read: \(String(cString: strerror(errno))).")
            }
            guard count > 0 else { return }
            try copy.append(UnsafeRawBufferPointer(rebasing: piece[..<count]))
        }
    }
}
