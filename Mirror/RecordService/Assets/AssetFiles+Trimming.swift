internal import Foundation
internal import RecordWire

extension AssetFiles {
    /// Removes the files that were written longest ago until all take `bytesMax` at most. For a
    /// folder of copies alone. Cost: a look at each file.
    func trim(to bytesMax: Int64) {
        var files: [(checksum: AssetChecksum, size: Int64, written: Int)] = []
        var total: Int64 = 0
        for checksum in contents(before: .distantFuture) {
            guard let file = try? open(checksum) else { continue }
            var status = stat()
            guard fstat(file.descriptor, &status) == 0 else { continue }
            files.append((checksum, file.size, Int(status.st_mtim.tv_sec)))
            total += file.size
        }
        files.sort { $0.written < $1.written }
        for file in files where total > bytesMax {
            guard (try? remove(file.checksum)) != nil else { return }
            total -= file.size
        }
    }
}
