internal import Foundation

/// Writing to the descriptors that a program is given.
enum StandardStream {
    /// Writes all of the bytes. Returns the system's error where it takes them not. One that is set
    /// not to wait, as by another program on the same terminal or pipe, is waited for.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
        var rest = bytes
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
            if count > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if count < 0, errno == EAGAIN {
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&room, 1, -1)
            } else if count == 0 || errno != EINTR {
                return count == 0 ? ENOSPC : errno
            }
        }
        return nil
    }
}
