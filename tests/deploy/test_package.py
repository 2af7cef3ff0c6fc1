"""The Debian package: what is in it, and what its scripts do when it is installed, removed and purged in another root."""

import gzip
import os
import shutil
import subprocess
import tarfile
import tempfile
import tomllib
import unittest
from pathlib import Path

from support import ROOT, run

BINARY = "target/debug/phigate"


def wrapped(folder: Path) -> Path:
    """A small program that does what the debug binary does: compressing that one takes a minute."""
    program = folder / "phigate"
    program.write_text(f"#!/bin/sh\nexec {ROOT / BINARY} \"$@\"\n")
    program.chmod(0o755)
    return program


@unittest.skipUnless(shutil.which("dpkg-deb") and Path("/usr/share/debconf/confmodule").exists(), "needs Debian")
class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        folder = Path(cls.work.name)
        cls.package = run("deploy/deb.sh", str(wrapped(folder)), str(folder / "out")).strip()
        cls.files = folder / "files"
        run("dpkg-deb", "--raw-extract", cls.package, str(cls.files))

    @classmethod
    def tearDownClass(cls):
        cls.work.cleanup()

    def test_fields_name_package_and_version(self):
        version = run(BINARY, "--version").split()[1]
        field = lambda name: run("dpkg-deb", "--field", self.package, name).strip()
        self.assertEqual((field("Package"), field("Version")), ("phigate", version))
        self.assertNotIn("@", run("dpkg-deb", "--field", self.package).replace("@localhost", ""))

    def test_files_belong_to_root_and_are_not_writable(self):
        for line in run("dpkg-deb", "--contents", self.package).splitlines():
            mode, owner = line.split()[:2]
            self.assertEqual((owner, mode[5], mode[8]), ("root/root", "-", "-"), line)

    def test_settings_lead_to_the_packages_folders(self):
        settings = tomllib.loads((self.files / "etc/phigate/phigate.toml").read_text())
        self.assertEqual(settings["data"], "/var/lib/phigate/data")
        self.assertEqual(settings["master_key_file"], "/var/lib/phigate-key/master.key")
        self.assertEqual((self.files / "DEBIAN/conffiles").read_text(), "/etc/phigate/phigate.toml\n")

    def test_unit_is_that_of_the_sources(self):
        unit = (self.files / "usr/lib/systemd/system/phigate.service").read_text()
        self.assertIn("ExecStart=/usr/bin/phigate serve --config /etc/phigate/phigate.toml", unit)
        self.assertIn("User=phigate\nGroup=phigate\n", unit)
        self.assertIn("ProtectSystem=strict", unit)
        self.assertNotIn("DynamicUser", unit)
        self.assertNotIn("/usr/local", unit)
        self.assertTrue(unit.startswith("[Unit]"))

    def test_completions_and_manual_pages_are_inside(self):
        for name, words in (("bash-completion/completions/phigate", "_phigate"), ("zsh/vendor-completions/_phigate", "#compdef phigate"), ("fish/vendor_completions.d/phigate.fish", "complete -c phigate")):
            self.assertIn(words, (self.files / "usr/share" / name).read_text())
        pages = {path.name: gzip.decompress(path.read_bytes()).decode() for path in (self.files / "usr/share/man/man1").iterdir()}
        self.assertIn(".TH", pages["phigate.1.gz"])
        self.assertIn("phigate-key-create.1.gz", pages)

    def test_release_is_complete_and_verifiable(self):
        out = Path(self.work.name) / "release"
        run("deploy/release.sh", str(Path(self.work.name) / "phigate"), str(out))
        version = run(BINARY, "--version").split()[1]
        names = {path.name for path in out.iterdir()}
        self.assertEqual(len(names), 4)
        self.assertLessEqual({f"phigate-{version}.cdx.json", "SHA256SUMS", Path(self.package).name}, names)
        subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=out, check=True)
        self.assertEqual(len((out / "SHA256SUMS").read_text().splitlines()), 3)
        with tarfile.open(next(out.glob("*.tar.gz"))) as archive:
            inside = {Path(name).name for name in archive.getnames()}
        self.assertLessEqual({"phigate", "phigate.example.toml", "LICENSE", "phigate.bash", "phigate.1"}, inside)

    def test_same_binary_gives_same_bytes(self):
        again = run("deploy/deb.sh", str(Path(self.work.name) / "phigate"), str(Path(self.work.name) / "again")).strip()
        self.assertEqual(Path(self.package).read_bytes(), Path(again).read_bytes())


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("dpkg") and Path("/usr/share/debconf/confmodule").exists(), "needs root on Debian")
class Scripts(unittest.TestCase):
    """Installs into another root; scripts run outside it (dpkg's chrootless mode), with answers of their own."""

    def setUp(self):
        self.work = tempfile.TemporaryDirectory()
        folder = Path(self.work.name)
        self.package = run("deploy/deb.sh", str(wrapped(folder)), str(folder / "out")).strip()
        self.root = folder / "root"
        for name in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "var/cache/debconf", "var/log", "etc"):
            (self.root / name).mkdir(parents=True)
        for name in ("var/lib/dpkg/status", "etc/passwd", "etc/group", "etc/shadow", "etc/gshadow"):
            (self.root / name).touch()
        # debconf keeps its answers in the other root as well.
        shutil.copy("/etc/debconf.conf", self.root / "etc")
        self.answers = self.root / "var/cache/debconf/config.dat"

    def tearDown(self):
        self.work.cleanup()

    def dpkg(self, *arguments: str) -> str:
        environment = {"PATH": os.environ["PATH"], "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
        done = subprocess.run(["dpkg", f"--root={self.root}", "--force-script-chrootless", "--force-depends", *arguments], env=environment, text=True, capture_output=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def install(self) -> str:
        said = self.dpkg("--install", self.package)
        for name in ("phigate/data", "phigate-key"):
            (self.root / "var/lib" / name).mkdir(exist_ok=True)
            (self.root / "var/lib" / name / "kept").touch()
        return said

    def test_installation_makes_user_and_folders_and_starts_nothing(self):
        said = self.install()
        self.assertIn("not started", said)
        self.assertRegex((self.root / "etc/passwd").read_text(), r"(?m)^phigate:.*:/usr/sbin/nologin$")
        owner = int((self.root / "etc/passwd").read_text().split(":")[2])
        for name in ("phigate", "phigate-key"):
            folder = (self.root / "var/lib" / name).stat()
            self.assertEqual((folder.st_mode & 0o777, folder.st_uid), (0o700, owner))
        self.assertEqual(list(self.root.glob("etc/systemd/system/*.wants/*")), [])

    def test_upgrade_keeps_settings_and_data(self):
        self.install()
        settings = self.root / "etc/phigate/phigate.toml"
        settings.write_text("listen = \"127.0.0.1:9\"\n")
        said = self.dpkg("--install", "--force-confold", self.package)
        self.assertNotIn("not started", said)
        self.assertEqual(settings.read_text(), "listen = \"127.0.0.1:9\"\n")
        self.assertTrue((self.root / "var/lib/phigate-key/kept").exists())

    def test_purge_without_an_answer_keeps_key_and_records(self):
        self.install()
        self.dpkg("--remove", "phigate")
        self.assertTrue((self.root / "etc/phigate/phigate.toml").exists())
        said = self.dpkg("--purge", "phigate")
        self.assertIn("kept: ", said)
        for name in ("phigate/data", "phigate-key"):
            self.assertTrue((self.root / "var/lib" / name / "kept").exists())
        self.assertFalse((self.root / "etc/phigate").exists())

    def test_purge_deletes_key_if_told_to(self):
        self.install()
        told = self.answers.read_text().replace("Template: phigate/purge\n", "Template: phigate/purge\nValue: true\n")
        self.assertIn("Value: true", told)
        self.answers.write_text(told)
        self.dpkg("--purge", "phigate")
        for name in ("phigate", "phigate-key"):
            self.assertFalse((self.root / "var/lib" / name).exists())
        self.assertNotIn("phigate", (self.root / "etc/passwd").read_text())
