"""The docs site: every page is in its table of contents, and mdBook builds it, where it is installed, without a dead link."""

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import ROOT


def site():
    spec = importlib.util.spec_from_file_location("docs_site", ROOT / "docs" / "site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Site(unittest.TestCase):
    def test_contents_name_every_page_once(self):
        contents = site().summary()
        for page in site().pages() + site().decisions():
            with self.subTest(page):
                self.assertEqual(contents.count(f"]({page})"), 1)

    def test_dead_link_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            page.write_text('<h1 id="here"></h1><a href="#here"></a><a href="#there"></a><a href="gone.html"></a><a href="https://else.example/"></a>')
            self.assertEqual(site().broken(Path(folder)), ["page.html: #there", "page.html: gone.html"])

    @unittest.skipUnless(shutil.which("mdbook"), "needs mdbook")
    def test_built_site_has_no_dead_link(self):
        with tempfile.TemporaryDirectory() as folder:
            built = subprocess.run([sys.executable, ROOT / "docs" / "site.py", folder], text=True, capture_output=True)
            self.assertEqual(built.returncode, 0, built.stdout + built.stderr)


if __name__ == "__main__":
    unittest.main()
